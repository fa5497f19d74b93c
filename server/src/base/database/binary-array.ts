/** Element types of the arrays, and the JavaScript values that they accept. */
export interface ElementValues {
  text: string | null;
  int: number | null;
  bigint: number | null;
  boolean: boolean;
  bytea: Buffer | null;
  /** A JSON text. */
  jsonb: string;
}

/** OIDs of the element types, from PostgreSQL's `pg_type.dat`. */
const typeOids = { text: 25, int: 23, bigint: 20, boolean: 16, bytea: 17, jsonb: 3802 };

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
 * Encodes the values that `read` returns for `rows` as a PostgreSQL array in binary format
 * (`array_recv` in `src/backend/utils/adt/arrayfuncs.c`), which `pg` sends unchanged. In text
 * format, escaping here and parsing in the server would each cost more than the insert.
 *
 * Several dozen columns of each run are encoded here. Hence the loop with an index, and one
 * function that writes all types: it gets no closures, and allocates nothing for each value.
 * @param read must not encode another array, because all arrays are built in the same buffer.
 * @throws RangeError if an `int` does not fit into 32 bits, or a `bigint` not into 64.
 */
export function encodeArray<Type extends keyof ElementValues, Row>(
  type: Type,
  rows: readonly Row[],
  read: (row: Row) => ElementValues[Type],
): Buffer {
  const oid = typeOids[type];
  if (rows.length === 0) return constant(emptyArrays, oid, () => emptyArray(oid));
  let at = headerBytes;
  let nulls = 0;
  for (let index = 0; index < rows.length; index++) {
    const value: AnyValue | null = read(rows[index] as Row);
    const needed = 4 + (value === null ? 0 : maxBytes(value));
    if (at + needed > page.length)
      page = Buffer.concat([page.subarray(0, at)], Math.max(2 * page.length, at + needed));
    const length = value === null ? -1 : writeValue(type, value, at + 4);
    putInt32(length, at);
    at += 4 + Math.max(length, 0);
    if (value === null) nulls = 1;
  }
  if (rows.length === 1 && nulls === 1) return constant(nullArrays, oid, () => arrayOfNull(oid));
  writeHeader(page, { oid, nulls, length: rows.length });
  const array = Buffer.allocUnsafe(at);
  page.copy(array, 0, 0, at);
  if (page.length > pageSize) page = Buffer.allocUnsafe(pageSize);
  return array;
}

type AnyValue = Exclude<ElementValues[keyof ElementValues], null>;

/** Returns the maximum bytes of a value. */
function maxBytes(value: AnyValue): number {
  // UTF-8 needs at most three bytes per UTF-16 code unit. `jsonb` has one more byte.
  if (typeof value === "string") return 1 + 3 * value.length;
  return typeof value === "object" ? value.length : 8;
}

/** Writes a value at the offset `at` of `page` and returns its length in bytes. */
function writeValue(type: keyof ElementValues, value: AnyValue, at: number): number {
  if (typeof value === "string")
    return type === "jsonb" ? writeJson(value, at) : writeText(value, at);
  if (typeof value === "number")
    return type === "int" ? writeInt(value, at) : writeBigint(value, at);
  if (typeof value === "object") return value.copy(page, at);
  page[at] = value ? 1 : 0;
  return 1;
}

/** Texts up to this length, such as ids, are written without a call of native code. */
const maxLoopLength = 48;

function writeText(text: string, at: number): number {
  if (text.length > maxLoopLength) return page.write(text, at);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return page.write(text, at);
    page[at + index] = code;
  }
  return text.length;
}

function writeJson(text: string, at: number): number {
  // Version number of jsonb's binary format.
  page[at] = 1;
  return 1 + writeText(text, at + 1);
}

function writeInt(value: number, at: number): number {
  if (!(value >= -(2 ** 31) && value < 2 ** 31))
    throw new RangeError(`${value} does not fit into 32 bits`);
  putInt32(value, at);
  return 4;
}

function writeBigint(value: number, at: number): number {
  if (!(value >= -(2 ** 63) && value < 2 ** 63))
    throw new RangeError(`${value} does not fit into 64 bits`);
  const high = Math.floor(value / 2 ** 32);
  putInt32(high, at);
  putInt32(value - high * 2 ** 32, at + 4);
  return 8;
}

/** Writes the lowest 32 bits of an integer, the highest byte first. */
function putInt32(value: number, at: number): void {
  page[at] = value >>> 24;
  page[at + 1] = value >>> 16;
  page[at + 2] = value >>> 8;
  page[at + 3] = value;
}

function writeHeader(
  array: Buffer,
  { oid, nulls, length }: { oid: number; nulls: number; length: number },
): void {
  array.writeInt32BE(1, 0);
  array.writeInt32BE(nulls, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
}

/**
 * Arrays without elements, and arrays whose only element is null, by the OID of the element type.
 * A batch of one run has a dozen such arrays, so they are built once and then shared. They must not
 * be modified.
 */
const emptyArrays = new Map<number, Buffer>();
const nullArrays = new Map<number, Buffer>();

function constant(arrays: Map<number, Buffer>, oid: number, build: () => Buffer): Buffer {
  let array = arrays.get(oid);
  if (array === undefined) {
    array = build();
    arrays.set(oid, array);
  }
  return array;
}

/** Returns an array with no dimensions, as PostgreSQL writes an empty array. */
function emptyArray(oid: number): Buffer {
  const array = Buffer.alloc(12);
  array.writeInt32BE(oid, 8);
  return array;
}

function arrayOfNull(oid: number): Buffer {
  const array = Buffer.alloc(headerBytes + 4);
  writeHeader(array, { oid, nulls: 1, length: 1 });
  array.writeInt32BE(-1, headerBytes);
  return array;
}
