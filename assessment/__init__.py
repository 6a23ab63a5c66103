"""Impact assessments of development sites: nutrients and great crested newts.

    import assessment
    found = assessment.assess(sites, "reference")  # sites: a GeoDataFrame

`assess` needs geopandas, which the command and the worker do not need: it is imported on first use.

The path of an assessment, in the order of the modules:

    request.py             the request: an action's parameters, or the body of a job message
    job.py                 one job from files to files, for the command (cli/) and the worker (work/)
    intake/ with formats/  turns the upload into validated sites (sites.py)
    bundle/                the reference layers, memory-mapped
    compute.py             the assessment, chunk by chunk (chunks.py), with nutrient/ or gcn/
    output/, report/       tables, a report, and output.json last
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assessment.frames import assess

__all__ = ["assess"]


def __getattr__(name: str) -> Any:
    if name != "assess":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from switchyard.extras import missing_extra  # noqa: PLC0415

    try:
        from assessment.frames import assess  # noqa: PLC0415
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        raise ImportError(str(missing)) from error
    return assess
