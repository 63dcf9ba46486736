import json
import string as s
from collections import OrderedDict
json.loads(json.dumps({"a": [1, None, "x"]}))
s.Template("$a").substitute(a=1)
OrderedDict(a=1).move_to_end("a")
try:
    import no_such_module_anywhere
except ImportError:
    pass
