import { createClient } from "@beckon/client";
import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import type { CurrentWorkspace } from "../data/index.ts";

/** The globals that the modules of the page use when they are loaded. */
vi.stubGlobal("location", { origin: "https://beckon.test" });
vi.stubGlobal("BroadcastChannel", class {});
const { namesQuery } = await import("./queries.ts");
const { auditFilters } = await import("./audit-filters.tsx");

const pageSize = 200;

/** Reads the names of a workspace with so many members and keys. */
async function readNames(given: { readonly members: number; readonly keys: number }) {
  const counts: Readonly<Record<string, number>> = given;
  const urls: URL[] = [];
  const fetch = async (input: string | URL | Request) => {
    const url = new URL(String(input));
    urls.push(url);
    const kind = url.pathname.split("/").at(-1) ?? "";
    const start = Number(url.searchParams.get("after"));
    const count = counts[kind] ?? 0;
    const end = Math.min(start + pageSize, count);
    const data = Array.from({ length: end - start }, (_, index) => ({
      id: `${kind === "keys" ? "key" : "usr"}_${start + index}`,
      name: `${kind} ${start + index}`,
    }));
    return Response.json({ ok: true, data, next: end < count ? String(end) : null });
  };
  const client = createClient({ url: "https://beckon.test", fetch });
  const workspace = { id: "wsp_1", client, can: () => true } as unknown as CurrentWorkspace;
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  return { ...(await cache.fetchQuery(namesQuery(workspace))), urls };
}

test("all members and keys have names, and can be chosen as actors", async () => {
  const { names, note } = await readNames({ members: 401, keys: 201 });
  expect([names.get("usr_400"), names.get("key_200"), note]).toEqual([
    "members 400",
    "keys 200",
    "",
  ]);
  const actors = auditFilters(names, "UTC").find(({ id }) => id === "actor")?.options;
  expect(actors).toContainEqual({ value: "user:usr_400", label: "members 400" });
  expect(actors).toContainEqual({ value: "key:key_200", label: "Key keys 200" });
});

test("at most 2,000 names of a kind are read, and this is said", async () => {
  const { names, note, urls } = await readNames({ members: 2_001, keys: 2_001 });
  expect(names.size).toBe(4_000);
  expect(urls.filter(({ pathname }) => pathname.endsWith("/members"))).toHaveLength(10);
  expect(note).toBe(
    "Only the first 2,000 members and keys have names here. Others can be shown by their ids.",
  );
});
