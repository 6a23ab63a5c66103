"""Nutrients: how the land use and the wastewater of new homes increase the load on a catchment.

The path of a batch of sites:

    facts.py      what the layers say about each site, chunk by chunk: the expensive part
                  regions.py, majority.py, landuse.py, on overlap.py and cores.py
    rows.py       the rows of the whole batch: cheap
                  rates.py, wastewater.py, repeats.py, warn.py
    columns.py    the columns of the result
"""
