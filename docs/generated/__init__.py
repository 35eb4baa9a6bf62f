"""Pages of the site that the code itself writes: each module gives its pages by their path, as Markdown."""
