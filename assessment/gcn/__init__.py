"""Great crested newts: the habitat and the ponds that a development affects.

assess.py   the whole assessment, one chunk: its sites share one buffer
ground.py   the sites, and 250 m around them
zones.py    the risk zones within reach
ponds.py    ponds of a survey, or of the national layer
impact.py   habitat and ponds by risk zone: the rows of the result
"""
