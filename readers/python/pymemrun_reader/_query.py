"""SQL over a dump: what ObjectDump.query() does. DuckDB reads the dump's arrays where
they lie; SQLite is the one of the tools."""
import collections as _collections

from ._reader import _edge_kinds

# Text is made from numbers, and only where a SELECT asks for it.
_VIEWS = """
CREATE VIEW nodes AS
  SELECT id, CASE address WHEN 0 THEN NULL ELSE '0x' || lower(to_hex(address)) END AS address,
         _types.type, module, n.size, n.retained, _length(id) AS length,
         _value(id) AS value, synthetic
  FROM _nodes n JOIN _types ON number = type_number;
CREATE VIEW edges AS
  SELECT source, target, _kinds.kind, _edge_name(edge) AS name
  FROM _edges JOIN _kinds ON number = kind_number;
CREATE VIEW dominators AS
  SELECT id AS node, CASE dominator WHEN 4294967295 THEN NULL ELSE dominator END AS dominator,
         retained
  FROM _nodes;
CREATE VIEW types AS SELECT type, module, objects, size, retained FROM _types;
"""


def _of_one(function):
    def of_one(number):
        return function(number)
    return of_one  # DuckDB asks for its signature


def _numbered(rows):
    return [(number, *row) for number, row in enumerate(rows)]


def _connect(dump, duckdb, numpy):
    arrays = {name: numpy.asarray(array) for name, array in dump.arrays().items()}
    ids = numpy.arange(len(arrays['address']), dtype='u4')
    connection = duckdb.connect(':memory:')
    connection.register('_nodes', {
        'id': ids, 'address': arrays['address'], 'type_number': arrays['type'],
        'size': arrays['size'], 'retained': arrays['retained'],
        'dominator': arrays['dominator']})
    connection.register('_edges', {
        'edge': numpy.arange(len(arrays['target']), dtype='u4'),
        'source': numpy.repeat(ids, numpy.diff(arrays['first_edge'])),
        'target': arrays['target'], 'kind_number': arrays['kind']})
    connection.execute('CREATE TABLE _types (number UINTEGER, type VARCHAR, module VARCHAR, '
                       'objects UBIGINT, size UBIGINT, retained UBIGINT, synthetic INTEGER)')
    connection.executemany('INSERT INTO _types VALUES (?, ?, ?, ?, ?, ?, ?)',
                           _numbered(dump._types()))
    connection.execute('CREATE TABLE _kinds (number UTINYINT, kind VARCHAR)')
    # Those that are not known are other references.
    kinds = [(number, kind) for number, kind in enumerate(_edge_kinds())]
    kinds += [(number, kinds[0][1]) for number in range(len(kinds), 256)]
    connection.executemany('INSERT INTO _kinds VALUES (?, ?)', kinds)
    for name, function, gives in (('_length', dump._length, 'UBIGINT'),
                                  ('_value', dump._value, 'VARCHAR'),
                                  ('_edge_name', dump._edge_name, 'VARCHAR')):
        connection.create_function(name, _of_one(function), ['UINTEGER'], gives,
                                   null_handling='special')
    connection.execute(_VIEWS)
    connection.execute('SET enable_external_access = false')
    return connection


def _by_duckdb(dump, sql, duckdb, numpy):
    with _connect(dump, duckdb, numpy) as connection:
        try:
            statements = connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type.name != 'SELECT':
                raise ValueError('SQL: only one SELECT is possible here')
            answer = connection.execute(statements[0])
            return [column[0] for column in answer.description], answer.fetchall()
        except duckdb.Error as error:
            raise ValueError('SQL: %s' % error) from None


def query(dump, sql, engine=None):
    """The rows of the answer, named tuples. See ObjectDump.query()."""
    if engine not in (None, 'duckdb', 'sqlite'):
        raise ValueError('expected "duckdb", "sqlite" or None, found %r' % (engine,))
    answer = None
    if engine != 'sqlite':
        try:
            import duckdb
            import numpy
        except ImportError:
            if engine == 'duckdb':
                raise
        else:
            answer = _by_duckdb(dump, sql, duckdb, numpy)
    names, rows = answer or dump._sqlite(sql)
    row = _collections.namedtuple('QueryRow', names, rename=True)
    return [row(*values) for values in rows]
