import { z } from "zod";

/** A list with this many issues is not parsed further. A response shows ten issues of a request. */
const maxIssues = 10;

/**
 * Returns the schema of a list, like `z.array`, but no item is parsed after the one with the list's
 * tenth issue. An issue takes up to 2 KB. The lists in each other that fit into one request have
 * 100,000 values: their issues would fill the memory of a process.
 */
export function boundedList<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return new BoundedList({ type: "array", element: item }) as z.ZodArray<Item>;
}

const BoundedList = z.core.$constructor<z.ZodArray>("BoundedList", (list, def) => {
  z.ZodArray.init(list, def);
  const { parse } = list._zod;
  list._zod.parse = (payload, context) => {
    const items = payload.value;
    // `parse` rejects a list with more items than `max` before it parses one of them.
    const max = list._zod.bag.maximum;
    if (!Array.isArray(items) || (typeof max === "number" && items.length > max))
      return parse(payload, context);
    const parsed: unknown[] = [];
    payload.value = parsed;
    for (const [index, value] of items.entries()) {
      const result = list.element._zod.run({ value, issues: [] }, context);
      if (result instanceof Promise) throw new z.core.$ZodAsyncError();
      payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
      parsed.push(result.value);
      if (payload.issues.length >= maxIssues) break;
    }
    return payload;
  };
});

/**
 * Returns the schema of an object with any field names, like `z.record`, but the number of fields
 * is checked before the fields are.
 * @param tooMany message for an object with more than `maxFields` fields.
 */
export function boundedRecord<Key extends z.core.$ZodRecordKey, Value extends z.ZodType>(
  keyType: Key,
  valueType: Value,
  maxFields: number,
  tooMany: string,
): z.ZodRecord<Key, Value> {
  const def = { type: "record", keyType, valueType, maxFields, tooMany } as const;
  return new BoundedRecord(def) as z.ZodRecord<Key, Value>;
}

const BoundedRecord = z.core.$constructor<
  z.ZodRecord,
  z.core.$ZodRecordDef & { readonly maxFields: number; readonly tooMany: string }
>("BoundedRecord", (record, def) => {
  z.ZodRecord.init(record, def);
  const { parse } = record._zod;
  record._zod.parse = (payload, context) => {
    const input = payload.value;
    if (typeof input !== "object" || input === null || Object.keys(input).length <= def.maxFields)
      return parse(payload, context);
    payload.issues.push({ code: "custom", message: def.tooMany, input, inst: record });
    return payload;
  };
});

/** Adds the first ten mistakes as issues, and does not compute the others. */
export function addMistakes(
  context: z.RefinementCtx,
  mistakes: Iterable<{ readonly path: readonly (string | number)[]; readonly message: string }>,
): void {
  let count = 0;
  for (const { path, message } of mistakes) {
    context.addIssue({ code: "custom", path: [...path], message });
    count += 1;
    if (count === maxIssues) return;
  }
}
