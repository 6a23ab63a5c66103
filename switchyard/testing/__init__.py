"""For the tests of your own project: a pytest plugin, and Work to pass to your handler.

    def test_an_order_is_announced(yard):
        action = yard.submit("webhook", {"order": 17})
        assert yard.run(action).status == "SUCCESSFUL"

`pip install 'switchyard[testing]'` installs the plugin, which pytest finds (plugin.py lists the fixtures).
`yard` is a `Switchyard` on the test's own migrated database, which also runs actions in the test's process.

The path of a test: plugin.py starts one Postgres per session -> databases.py copies a migrated database for
each test -> yard.py runs conductor on it, in a thread of the test's process.
"""

from switchyard.testing.work import dispatched, make_work

__all__ = ["dispatched", "make_work"]
