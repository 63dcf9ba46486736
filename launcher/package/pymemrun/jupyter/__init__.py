"""What `%load_ext pymemrun` brings into IPython and Jupyter's Python kernel.

In a traced process the built-in module `pymemrun` loads it, in another one the
package. Nothing here is imported unless it is asked for.
"""


def load_ipython_extension(shell):
    """Registers the cell magic %%pymemrun."""
    from . import magic
    magic.load(shell)
