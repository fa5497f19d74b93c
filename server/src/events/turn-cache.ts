/**
 * Creates a cache for one turn of the event loop: the returned function calls `make` only for the
 * first use of a key in a turn. Several consumers of one event share values in this way. Rejected:
 * a `WeakMap`, whose values survive minor garbage collections even if their keys do not.
 */
export function createTurnCache<Key, Value>(): (key: Key, make: () => Value) => Value {
  const values = new Map<Key, Value>();
  return (key, make) => {
    const known = values.get(key);
    if (known !== undefined) return known;
    if (values.size === 0) setImmediate(() => values.clear());
    const value = make();
    values.set(key, value);
    return value;
  };
}
