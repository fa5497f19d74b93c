/**
 * Creates a function that returns what `make` returned for the same key in the same turn of the
 * event loop, and else calls `make`. For values that several consumers of one event need, one after
 * the other. A `WeakMap` keeps them longer and costs more: its values survive minor garbage
 * collections even if their keys do not.
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
