import { agent, subscription, trigger } from "@beckon/contract";
import { expect, test } from "vitest";
import { z } from "zod";
import { buildDocument } from "../openapi/index.ts";
import { managedRoutes } from "./index.ts";

test("the Location of every response that has one can be read", () => {
  const withoutNames = (path: string) => path.replaceAll(/:\w+/g, ":");
  const readable = managedRoutes
    .filter(({ method }) => method === "GET")
    .map(({ path }) => withoutNames(path));
  for (const { doc } of managedRoutes)
    if (typeof doc.created === "string")
      expect(readable, doc.id).toContain(withoutNames(doc.created));
});

test("the fields in the Location and the ETag of a route are fields of its data", () => {
  for (const { doc } of managedRoutes) {
    const inLocation = doc.created?.match(/(?<=:)\w+/g) ?? [];
    const names = [...inLocation, ...(doc.etag ? ["version"] : [])];
    const fields = doc.data instanceof z.ZodObject ? Object.keys(doc.data.shape) : [];
    expect(fields, doc.id).toEqual(expect.arrayContaining(names));
  }
});

const ids = (routes: typeof managedRoutes) => routes.map(({ doc }) => doc.id);

test("every POST that changes something accepts an Idempotency-Key, except one whose repeat changes nothing", () => {
  const without = managedRoutes.filter(
    ({ method, doc, changesNothing }) => method === "POST" && !changesNothing && !doc.once,
  );
  expect(ids(without)).toEqual(["cancelRun"]);
});

test("every response that is a whole agent, trigger or subscription has its version as ETag", () => {
  const versioned: readonly unknown[] = [agent, trigger, subscription];
  const without = managedRoutes.filter(
    ({ doc }) => versioned.includes(doc.data) && !doc.list && !doc.etag,
  );
  expect(ids(without)).toEqual([]);
});

test("every route that reveals a secret is recorded in the audit log", () => {
  const revealing = managedRoutes.filter(({ doc }) => doc.id.startsWith("reveal"));
  expect(ids(revealing)).toHaveLength(4);
  expect(revealing.filter(({ recorded }) => !recorded)).toEqual([]);
});

test.each([
  ["listModels", "providers"],
  ["listTriggerPresets", "triggers"],
  ["listRunDeliveries", "runs"],
  ["createInvitation", "invitations"],
])("the OpenAPI document has the operation %s under the tag %s", (id, tag) => {
  const operations = Object.values(buildDocument().paths).flatMap(Object.values);
  expect(operations).toContainEqual(expect.objectContaining({ operationId: id, tags: [tag] }));
});
