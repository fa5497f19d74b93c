import { isDeepStrictEqual } from "node:util";
import { errorResponse } from "@beckon/contract";
import { parse as parseYaml } from "yaml";
import type { z } from "zod";
import { accountRoutes } from "../src/http/api/accounts.ts";
import { managedRoutes } from "../src/http/api/index.ts";
import { statusOfCode } from "../src/http/errors.ts";
import { errorsOf, type RouteDoc, statusOf } from "../src/http/management/route-doc.ts";

const routes = [...managedRoutes, ...accountRoutes].map((route) => ({
  ...route,
  pattern: new RegExp(`^/api/public${route.path.replaceAll(/:\w+/g, "[^/]+")}$`),
}));
// Same precedence as in the server: literal paths before patterns.
routes.sort((one, other) => Number(one.path.includes(":")) - Number(other.path.includes(":")));

/** Operations that the tests of this process have called successfully. */
export const succeeded = new Set<string>();

/**
 * Checks a response against its route's documentation: status, error code and every field. Runs for
 * every response that a test receives from its Beckon, so that the OpenAPI document is correct.
 *
 * @throws {Error} describes the difference.
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
  const where = `${method} ${route.path} returned ${answer.status}`;
  if (answer.status >= 400) {
    const { code } = errorResponse.parse(answer.body);
    const declared: readonly string[] = errorsOf(route);
    if (!declared.includes(code))
      throw new Error(`${where} with ${code}, which its doc does not declare`);
    if (statusOfCode(code) !== answer.status) throw new Error(`${where} with ${code}`);
    return;
  }
  const { doc } = route;
  // The frames of streams are checked where tests read them: see read-stream.ts.
  if (doc.stream !== undefined && (typeof answer.body === "string" || answer.status === 204))
    return;
  if (doc.csv && typeof answer.body === "string") return;
  const expected = statusOf(doc);
  if (answer.status !== expected) throw new Error(`${where}, and declares ${expected}`);
  const found = doc.bytes ? [] : mistakesIn(doc, answer.body);
  if (found.length > 0)
    throw new Error(`${where}, which differs from its doc: ${found.join("; ")}`);
  succeeded.add(doc.id);
}

function mistakesIn(doc: RouteDoc, body: unknown): string[] {
  if (doc.data === undefined) return body === undefined ? [] : ["there is a body"];
  const { data: schema } = doc;
  if (doc.lines) return linesOf(body).flatMap((line) => mismatches(schema, undefined, line));
  if (doc.file)
    return mismatches(schema, undefined, typeof body === "string" ? parseYaml(body) : body);
  const { ok, data, next, ...more } = body as { ok: unknown; data: unknown; next?: unknown };
  const shape = [
    ...(ok === true ? [] : ["ok is not true"]),
    ...(Object.keys(more).length === 0 ? [] : [`there is ${Object.keys(more)}`]),
    ...((doc.list === true) === (next !== undefined) ? [] : ["`next` is only allowed on lists"]),
  ];
  return [
    ...shape,
    ...(doc.list ? (data as unknown[]) : [data]).flatMap((one) =>
      mismatches(schema, doc.also, one),
    ),
  ];
}

const linesOf = (body: unknown) =>
  String(body ?? "")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown);

/**
 * Returns how `value` differs from its schema. An undeclared field is a difference too, because the
 * parsed value does not have it.
 * @param also schema of fields that the response has in addition to `schema`; undefined if none.
 */
function mismatches(schema: z.ZodType, also: z.ZodObject | undefined, value: unknown): string[] {
  const parsed = schema.safeParse(value);
  const beside = also?.safeParse(value);
  if (!parsed.success) return [parsed.error.message];
  if (beside?.success === false) return [beside.error.message];
  const declared = { ...(parsed.data as object), ...beside?.data };
  return isDeepStrictEqual(declared, value)
    ? []
    : [`${JSON.stringify(value)} is declared as ${JSON.stringify(declared)}`];
}
