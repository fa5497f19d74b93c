import { expect, test } from "vitest";
import { z } from "zod";
import { managedRoutes } from "./index.ts";

test("the Location of every response that has one is the path of a route", () => {
  const withoutNames = (path: string) => path.replaceAll(/:\w+/g, ":");
  const paths = managedRoutes.map(({ path }) => withoutNames(path));
  for (const { doc } of managedRoutes)
    if (doc.created !== undefined) expect(paths, doc.id).toContain(withoutNames(doc.created));
});

test("the fields in the Location and the ETag of a route are fields of its data", () => {
  for (const { doc } of managedRoutes) {
    const inLocation = doc.created?.match(/(?<=:)\w+/g) ?? [];
    const names = [...inLocation, ...(doc.etag ? ["version"] : [])];
    const fields = doc.data instanceof z.ZodObject ? Object.keys(doc.data.shape) : [];
    expect(fields, doc.id).toEqual(expect.arrayContaining(names));
  }
});
