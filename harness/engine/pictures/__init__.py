"""Pictures: from the history of a run to what a page draws of it, for reports and the gallery.

Rules of this package: no verdict needs it, so nothing that draws, runs or judges plans imports it. A picture is data;
`holdfast.reports.pictures` turns it into SVG.
"""
