"""Figures as plotly specifications, one module for each thing that is shown. Nothing here draws: plotly does."""
