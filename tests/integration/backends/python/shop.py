"""An application with tasks, as a user would write it: conductor imports it too."""

from switchyard import AsyncSwitchyard, Switchyard

yard = Switchyard()
later = AsyncSwitchyard()


@yard.task
def price(item: str, count: int = 1) -> dict[str, object]:
    return {"item": item, "price": 3 * count}


@later.task(name="greeting")
async def greet(name: str) -> str:
    return f"hello {name}"
