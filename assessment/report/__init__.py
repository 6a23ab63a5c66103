"""The report of an assessment: page.py makes one HTML file without any other.

groups.py puts rows together; map.py draws the sites on the layers of background.py, with the labels that
labels.py places, in the units of frame.py and the shapes of svg.py.
"""
