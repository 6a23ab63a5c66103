"""Great crested newts: the habitat and the ponds that a development affects.

assess.py   the whole assessment, as one chunk: the sites share one buffer
ground.py   the sites, and the area within 250 m around them
zones.py    the risk zones in that area
ponds.py    ponds from a survey, or from the national layer
impact.py   habitat and ponds by risk zone: the rows of the result
"""
