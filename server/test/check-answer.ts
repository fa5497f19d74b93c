import { isDeepStrictEqual } from "node:util";
import { errorResponse } from "@beckon/contract";
import { parse as parseYaml } from "yaml";
import type { z } from "zod";
import { accountRoutes } from "../src/http/api/accounts.ts";
import { managedRoutes } from "../src/http/api/index.ts";
import { apiErrors } from "../src/http/errors.ts";
import { errorsOf, type RouteDoc } from "../src/http/management/route-doc.ts";

const routes = [...managedRoutes, ...accountRoutes].map((route) => ({
  ...route,
  pattern: new RegExp(`^/api/public${route.path.replaceAll(/:\w+/g, "[^/]+")}$`),
}));
// As the server does: whole words before patterns.
routes.sort((one, other) => Number(one.path.includes(":")) - Number(other.path.includes(":")));

/** Operations that have been answered as they should be at least once, by this process's tests. */
export const succeeded = new Set<string>();

/**
 * Holds an answer against what its route declares: status, code and every member. Every answer that a test gets through its
 * Beckon comes by here, so that the document says what is so.
 * @throws Error that says what differs.
 */
export function checkAnswer(
  method: string,
  url: string,
  answer: { status: number; body: unknown },
): void {
  const { pathname } = new URL(url);
  const path = routes.find(({ pattern }) => pattern.test(pathname))?.path;
  const route = routes.find((each) => each.method === method && each.path === path);
  if (route === undefined) return;
  const where = `${method} ${route.path} answered ${answer.status}`;
  if (answer.status >= 400) {
    const { code } = errorResponse.parse(answer.body);
    const declared: readonly string[] = errorsOf(route);
    if (!declared.includes(code))
      throw new Error(`${where} with ${code}, which its doc does not declare`);
    if (apiErrors[code as keyof typeof apiErrors].status !== answer.status)
      throw new Error(`${where} with ${code}`);
    return;
  }
  const { doc } = route;
  // Each frame is held against its schema where it is read: see read-stream.ts.
  if (doc.stream !== undefined && (typeof answer.body === "string" || answer.status === 204))
    return;
  const expected = doc.data === undefined ? 204 : doc.created ? 201 : 200;
  if (answer.status !== expected) throw new Error(`${where}, and declares ${expected}`);
  const found = mistakesIn(doc, answer.body);
  if (found.length > 0) throw new Error(`${where} otherwise than declared: ${found.join("; ")}`);
  succeeded.add(doc.id);
}

function mistakesIn(doc: RouteDoc, body: unknown): string[] {
  if (doc.data === undefined) return body === undefined ? [] : ["there is a body"];
  const { data: schema } = doc;
  if (doc.lines) return linesOf(body).flatMap((line) => misfit(schema, undefined, line));
  if (doc.file) return misfit(schema, undefined, typeof body === "string" ? parseYaml(body) : body);
  const { ok, data, next, ...more } = body as { ok: unknown; data: unknown; next?: unknown };
  const shape = [
    ...(ok === true ? [] : ["ok is not true"]),
    ...(Object.keys(more).length === 0 ? [] : [`there is ${Object.keys(more)}`]),
    ...((doc.list === true) === (next !== undefined) ? [] : ["next stands on lists only"]),
  ];
  return [
    ...shape,
    ...(doc.list ? (data as unknown[]) : [data]).flatMap((one) => misfit(schema, doc.also, one)),
  ];
}

const linesOf = (body: unknown) =>
  String(body ?? "")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);

/** What does not fit, members that are not declared included: they are what parsing leaves out. */
function misfit(schema: z.ZodType, also: z.ZodObject | undefined, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  const beside = also?.safeParse(value);
  if (!parsed.success) return [parsed.error.message];
  if (beside?.success === false) return [beside.error.message];
  const declared = { ...(parsed.data as object), ...beside?.data };
  return isDeepStrictEqual(declared, value)
    ? []
    : [`${JSON.stringify(value)} is declared as ${JSON.stringify(declared)}`];
}
