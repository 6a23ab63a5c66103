"""The report of an assessment: page.py creates a single, self-contained HTML file.

groups.py groups rows; map.py draws the sites on the layers of background.py, with the labels that labels.py
places. frame.py defines the drawing's units, svg.py its shapes.
"""
