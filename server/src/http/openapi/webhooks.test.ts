import { cloudEventsBody, deliveredEvent, eventVersion, standardBody } from "@beckon/contract";
import { expect, test } from "vitest";
import { buildDocument } from "./build-document.ts";

const { webhooks } = buildDocument("https://beckon.example.com");

interface Described {
  readonly post: {
    readonly "x-event-version": number;
    readonly requestBody: {
      readonly content: Readonly<
        Record<string, { readonly examples: Readonly<Record<string, { readonly value: unknown }>> }>
      >;
    };
  };
}

test("the catalogue has every event that can be delivered", () => {
  expect(Object.keys(webhooks)).toEqual(deliveredEvent.options);
});

test.each(deliveredEvent.options)("the examples of %s match its schemas", (type) => {
  const { post } = webhooks[type] as unknown as Described;
  expect(post["x-event-version"]).toBe(eventVersion);
  for (const [mediaType, schema] of [
    ["application/json", standardBody(type)],
    ["application/cloudevents+json", cloudEventsBody(type)],
  ] as const) {
    const { full, thin } = post.requestBody.content[mediaType]?.examples ?? {};
    // Parsing drops unknown fields. So the result equals the example only if the example has no
    // unknown fields.
    for (const example of [full, thin])
      expect(schema.parse(example?.value)).toEqual(example?.value);
    const data = (value: unknown) => schema.parse(value).data;
    expect(data(full?.value).payload).toBeDefined();
    expect(data(thin?.value).payload).toBeUndefined();
    expect(data(full?.value).url).toMatch(/^https:\/\/beckon\.example\.com\/api\/public\//);
  }
});
