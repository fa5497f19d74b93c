const pageSize = 1024 * 1024;

/**
 * Buffer in which each array is built before it is copied. It grows for a large array. Afterwards a
 * buffer of `pageSize` replaces it, so that the large one can be freed.
 */
let page = Buffer.allocUnsafe(pageSize);

/**
 * Bytes of the array header, which has five 32-bit integers: number of dimensions, null flag,
 * element type, number of elements, lower bound.
 */
const headerBytes = 20;

/**
 * Returns the values as a PostgreSQL array in binary format (`array_recv` in
 * `src/backend/utils/adt/arrayfuncs.c`), which `pg` sends unchanged. In text format, escaping here
 * and parsing in the server would each cost more than the insert.
 * @param type OID of the element type, from PostgreSQL's `pg_type.dat`.
 * @param maxBytesOf returns the maximum bytes of a value.
 * @param write writes a value at the offset `at` of `page` and returns its length in bytes.
 */
function binaryArray<Value>(
  type: number,
  values: readonly (Value | null)[],
  maxBytesOf: (value: Value) => number,
  write: (value: Value, at: number) => number,
): Buffer {
  if (values.length === 0) return constant(emptyArrays, type, () => emptyArray(type));
  if (values.length === 1 && values[0] === null)
    return constant(nullArrays, type, () => arrayOfNull(type));
  let at = headerBytes;
  let nulls = 0;
  for (const value of values) {
    const needed = 4 + (value === null ? 0 : maxBytesOf(value));
    if (at + needed > page.length)
      page = Buffer.concat([page.subarray(0, at)], Math.max(2 * page.length, at + needed));
    const length = value === null ? -1 : write(value, at + 4);
    page.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
    if (value === null) nulls = 1;
  }
  writeHeader(page, { type, nulls, length: values.length });
  const array = Buffer.allocUnsafe(at);
  page.copy(array, 0, 0, at);
  if (page.length > pageSize) page = Buffer.allocUnsafe(pageSize);
  return array;
}

function writeHeader(
  array: Buffer,
  { type, nulls, length }: { type: number; nulls: number; length: number },
): void {
  array.writeInt32BE(1, 0);
  array.writeInt32BE(nulls, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
}

/**
 * Arrays without elements, and arrays whose only element is null, by element type. A batch of one
 * run has a dozen such arrays, so they are built once and then shared. They must not be modified.
 */
const emptyArrays = new Map<number, Buffer>();
const nullArrays = new Map<number, Buffer>();

function constant(arrays: Map<number, Buffer>, type: number, build: () => Buffer): Buffer {
  let array = arrays.get(type);
  if (array === undefined) {
    array = build();
    arrays.set(type, array);
  }
  return array;
}

/** Returns an array with no dimensions, as PostgreSQL writes an empty array. */
function emptyArray(type: number): Buffer {
  const array = Buffer.alloc(12);
  array.writeInt32BE(type, 8);
  return array;
}

function arrayOfNull(type: number): Buffer {
  const array = Buffer.alloc(headerBytes + 4);
  writeHeader(array, { type, nulls: 1, length: 1 });
  array.writeInt32BE(-1, headerBytes);
  return array;
}

/** Returns the maximum bytes of a text: UTF-8 needs at most three bytes per UTF-16 code unit. */
const utf8Size = (value: string) => 3 * value.length;

/** Encodes a PostgreSQL array of the type `text[]` in binary format. */
export function textArray(values: readonly (string | null)[]): Buffer {
  return binaryArray(25, values, utf8Size, (value, at) => page.write(value, at));
}

/** Encodes JSON texts as a PostgreSQL array of the type `jsonb[]` in binary format. */
export function jsonArray(values: readonly string[]): Buffer {
  return binaryArray(
    3802,
    values,
    (value) => 1 + utf8Size(value),
    (value, at) => {
      // Version number of jsonb's binary format.
      page[at] = 1;
      return 1 + page.write(value, at + 1);
    },
  );
}

/** Encodes a PostgreSQL array of the type `bytea[]` in binary format. */
export function bytesArray(values: readonly (Buffer | null)[]): Buffer {
  return binaryArray(
    17,
    values,
    (value) => value.length,
    (value, at) => value.copy(page, at),
  );
}

/**
 * Encodes a PostgreSQL array of the type `int[]` in binary format.
 * @throws RangeError if a value does not fit into 32 bits.
 */
export function intArray(values: readonly (number | null)[]): Buffer {
  return binaryArray(
    23,
    values,
    () => 4,
    (value, at) => page.writeInt32BE(value, at) - at,
  );
}

/**
 * Encodes safe integers as a PostgreSQL array of the type `bigint[]` in binary format.
 * @throws RangeError if a value does not fit into 64 bits.
 */
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

/** Encodes a PostgreSQL array of the type `boolean[]` in binary format. */
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
