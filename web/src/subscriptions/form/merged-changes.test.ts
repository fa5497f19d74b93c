import { BeckonError, type Subscription, type UpdateSubscriptionBody } from "@beckon/client";
import { expect, test } from "vitest";
import { savePatch } from "../../data/patch.ts";
import { requireSameServer, withoutGivenUp } from "./merged-changes.ts";

const base = {
  version: 1,
  url: "https://x.example/a",
  description: "",
  header_names: ["Authorization"],
} as unknown as Subscription;
const headers = { authorization: "for X" };
const [moved, secret] = ["https://y.example/", "whsec_x"];

/** Saves changes while somebody else has saved `theirs`; returns the second request, or the error. */
async function saveAfter(
  theirs: Partial<Subscription>,
  changes: UpdateSubscriptionBody,
  url = changes.url ?? base.url,
) {
  const now = { ...base, ...theirs, version: 2 };
  const sent: UpdateSubscriptionBody[] = [];
  const state = await savePatch<Subscription, UpdateSubscriptionBody>(
    {
      read: async () => now,
      write: async (body, ifMatch, before) => {
        requireSameServer(body, before, { base, url });
        sent.push(body);
        if (ifMatch === now.version) return now;
        throw new BeckonError({ code: "stale", status: 412, message: "It was changed." });
      },
      onRead: () => {},
      onUnknown: () => {},
    },
    base,
    changes,
  );
  return state.name === "failed" ? String(state.thrown) : (sent[1] ?? state.name);
}

test("headers are not sent to a server for which they were not entered", async () => {
  expect(await saveAfter({ url: moved }, { headers })).toContain(`the URL to ${moved}.`);
  expect(await saveAfter({ url: moved }, { description: "Mine" })).toEqual({ description: "Mine" });
  expect(await saveAfter({ url: "https://x.example/b" }, { headers })).toEqual({ headers });
  // The URL of the form is saved already: the response to an earlier save was lost.
  const entered = { url: moved, secret, headers };
  expect(await saveAfter({ url: moved }, entered)).toEqual({ secret, headers });
  expect(await saveAfter({ url: moved }, { secret, headers }, "https://z.example")).toContain(
    "URL",
  );
});

test("headers that the form did not show are not replaced", async () => {
  const theirs = { header_names: ["X-Gate"] };
  expect(await saveAfter(theirs, { headers })).toContain("the extra headers to X-Gate.");
  expect(await saveAfter({ header_names: [] }, { headers })).toContain(
    "the extra headers to none.",
  );
  expect(await saveAfter(theirs, { headers: { "x-gate": "mine" } })).toHaveProperty("headers");
  expect(await saveAfter({ description: "Theirs" }, { headers })).toEqual({ headers });
});

test("after the choice of a URL, only what was entered for it is sent", () => {
  const theirs = { ...base, url: moved };
  const yours = { url: "https://z.example/", secret, headers, description: "Mine" };
  const chosen = { ...yours, url: moved };
  expect(withoutGivenUp(chosen, theirs, yours)).toEqual({ url: moved, description: "Mine" });
  expect(withoutGivenUp(yours, theirs, yours)).toEqual(yours);
  expect(() => requireSameServer(yours, theirs, { base, url: yours.url })).not.toThrow();
  const near = { url: `${moved}mine`, headers };
  expect(withoutGivenUp({ ...near, url: moved }, theirs, near)).toEqual({ url: moved, headers });
  // The form showed no field for a secret, because its URL has the origin of the base.
  const within = { url: "https://x.example/b" };
  expect(() => requireSameServer(within, theirs, { base, ...within })).toThrow("the URL to");
});
