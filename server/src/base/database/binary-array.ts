const pageSize = 1024 * 1024;

/** Where an array is written before its length is known; it grows for a larger one, and is let go after it. */
let page = Buffer.allocUnsafe(pageSize);

/** Bytes before the first element: dimensions, whether there are nulls, type of the elements, their number, the first one's index. */
const head = 20;

/**
 * The values as one PostgreSQL array in its binary form (`array_recv` in PostgreSQL's `src/backend/utils/adt/arrayfuncs.c`), which `pg` sends as it
 * is. The text form would have to be escaped here and be parsed there, of which each cost more than the writing itself.
 * @param type object identifier of the elements' type, in PostgreSQL's `pg_type.dat`.
 * @param most bytes that a value may take.
 * @param write puts a value at this place of the page and says how many bytes it took.
 */
function binaryArray<Value>(
  type: number,
  values: readonly (Value | null)[],
  most: (value: Value) => number,
  write: (value: Value, at: number) => number,
): Buffer {
  let at = head;
  let nulls = 0;
  for (const value of values) {
    const room = 4 + (value === null ? 0 : most(value));
    if (at + room > page.length)
      page = Buffer.concat([page.subarray(0, at)], Math.max(2 * page.length, at + room));
    const length = value === null ? -1 : write(value, at + 4);
    page.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
    if (value === null) nulls = 1;
  }
  page.writeInt32BE(values.length === 0 ? 0 : 1, 0);
  page.writeInt32BE(nulls, 4);
  page.writeInt32BE(type, 8);
  if (values.length === 0) return Buffer.from(page.subarray(0, 12));
  page.writeInt32BE(values.length, 12);
  page.writeInt32BE(1, 16);
  const array = Buffer.from(page.subarray(0, at));
  if (page.length > pageSize) page = Buffer.allocUnsafe(pageSize);
  return array;
}

/** UTF-8 takes at most three bytes for each of JavaScript's units. */
const utf8Size = (value: string) => 3 * value.length;

/** `text[]` */
export function textArray(values: readonly (string | null)[]): Buffer {
  return binaryArray(25, values, utf8Size, (value, at) => page.write(value, at));
}

/** `jsonb[]` of JSON texts. */
export function jsonArray(values: readonly string[]): Buffer {
  return binaryArray(
    3802,
    values,
    (value) => 1 + utf8Size(value),
    (value, at) => {
      // The version of jsonb's binary form.
      page[at] = 1;
      return 1 + page.write(value, at + 1);
    },
  );
}

/** `bytea[]` */
export function bytesArray(values: readonly (Buffer | null)[]): Buffer {
  return binaryArray(
    17,
    values,
    (value) => value.length,
    (value, at) => value.copy(page, at),
  );
}

/** `int[]` */
export function intArray(values: readonly (number | null)[]): Buffer {
  return binaryArray(
    23,
    values,
    () => 4,
    (value, at) => page.writeInt32BE(value, at) - at,
  );
}

/** `bigint[]` of whole numbers that JavaScript holds exactly. */
export function bigintArray(values: readonly (number | null)[]): Buffer {
  return binaryArray(
    20,
    values,
    () => 8,
    (value, at) => {
      page.writeInt32BE(Math.floor(value / 2 ** 32), at);
      page.writeUInt32BE(((value % 2 ** 32) + 2 ** 32) % 2 ** 32, at + 4);
      return 8;
    },
  );
}

/** `boolean[]` */
export function booleanArray(values: readonly boolean[]): Buffer {
  return binaryArray(
    16,
    values,
    () => 1,
    (value, at) => {
      page[at] = value ? 1 : 0;
      return 1;
    },
  );
}
