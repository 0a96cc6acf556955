"""Reports: plain data from the analysis, put on a page by Jinja templates; figures are plotly specifications."""
