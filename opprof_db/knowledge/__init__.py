"""The knowledge base: cases, recipes, patterns and tips as Markdown files, and their search."""
