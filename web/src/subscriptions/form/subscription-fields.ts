import type { CreateSubscriptionBody, Subscription, UpdateSubscriptionBody } from "@beckon/client";
import {
  createSubscriptionBody,
  type DeliveredEvent,
  type DeliveryFormat,
  type PayloadStyle,
  updateSubscriptionBody,
} from "@beckon/contract";
import type { FieldErrors, Resolver, UseFormReturn } from "react-hook-form";
import { wording } from "../../data/form/form-messages.ts";
import { eventTypes, usualEvents } from "../events.ts";

/** An extra header of the deliveries. */
export interface HeaderRow {
  name: string;
  value: string;
}

/** Fields of the form of a subscription. */
export interface SubscriptionFields {
  url: string;
  description: string;
  events: readonly DeliveredEvent[];
  hasAgents: boolean;
  agentIds: readonly string[];
  hasTriggers: boolean;
  triggerIds: readonly string[];
  /** One per line, because a tag can contain commas. */
  tags: string;
  payload: PayloadStyle;
  format: DeliveryFormat;
  /** If empty, a new subscription gets a generated secret, and an existing one keeps its secret. */
  secret: string;
  headers: HeaderRow[];
  /**
   * Whether `headers` replaces the stored headers of an existing subscription, whose values the API
   * does not return.
   */
  replacesHeaders: boolean;
}

/** The form's state, which each part of the form gets. */
export type SubscriptionFormState = UseFormReturn<SubscriptionFields>;

/** Initial fields of a new subscription: it gets the usual events, with all data. */
export const newSubscription: SubscriptionFields = {
  url: "",
  description: "",
  events: usualEvents,
  hasAgents: false,
  agentIds: [],
  hasTriggers: false,
  triggerIds: [],
  tags: "",
  payload: "full",
  format: "standard",
  secret: "",
  headers: [],
  replacesHeaders: true,
};

/** Returns the form's fields for a subscription that exists. */
export function fieldsOf(subscription: Subscription): SubscriptionFields {
  const { url, description, agent_ids: agentIds, trigger_ids: triggerIds } = subscription;
  return {
    url,
    description,
    // The events are always in the order of the form. Otherwise a box that is unchecked and checked
    // again would count as a change.
    events: eventTypes.filter((type) => subscription.event_types.includes(type)),
    hasAgents: agentIds !== null,
    agentIds: agentIds ?? [],
    hasTriggers: triggerIds !== null,
    triggerIds: triggerIds ?? [],
    tags: subscription.tags?.join("\n") ?? "",
    payload: subscription.payload,
    format: subscription.format,
    secret: "",
    headers: subscription.header_names.map((name) => ({ name, value: "" })),
    replacesHeaders: false,
  };
}

const tagsOf = (text: string) => {
  const tags = text.split("\n").flatMap((tag) => tag.trim() || []);
  return tags.length === 0 ? null : [...new Set(tags)];
};

const isFilled = ({ name, value }: HeaderRow) => name.trim() !== "" || value.trim() !== "";

const headersOf = ({ headers }: SubscriptionFields) =>
  Object.fromEntries(
    headers.filter(isFilled).map(({ name, value }) => [name.trim(), value.trim()]),
  );

function commonOf(fields: SubscriptionFields) {
  return {
    url: fields.url.trim(),
    description: fields.description.trim(),
    event_types: [...fields.events],
    agent_ids: fields.hasAgents ? [...fields.agentIds] : null,
    trigger_ids: fields.hasTriggers ? [...fields.triggerIds] : null,
    tags: tagsOf(fields.tags),
    payload: fields.payload,
    format: fields.format,
  };
}

/** Returns the body of the request that creates the subscription. */
export function bodyOf(fields: SubscriptionFields): CreateSubscriptionBody {
  const secret = fields.secret.trim();
  return {
    ...commonOf(fields),
    headers: headersOf(fields),
    ...(secret === "" ? {} : { secret }),
  };
}

/** Returns the body of the request that changes the subscription, with only the changed fields. */
export function changesFor(
  subscription: Subscription,
  fields: SubscriptionFields,
): UpdateSubscriptionBody {
  const before = commonOf(fieldsOf(subscription));
  const changed = Object.entries(commonOf(fields)).filter(
    ([name, value]) =>
      JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]),
  );
  const isElsewhere = hasOtherOrigin(subscription.url, fields.url);
  const secret = fields.secret.trim();
  return {
    ...(Object.fromEntries(changed) as UpdateSubscriptionBody),
    ...(isElsewhere && secret !== "" ? { secret } : {}),
    ...(fields.replacesHeaders || (isElsewhere && subscription.header_names.length > 0)
      ? { headers: headersOf(fields) }
      : {}),
  };
}

/**
 * Returns the changes and, if they contain a secret, also the URL, because the API rejects a secret
 * without the URL for which it was entered. The changes lack the URL if it is saved already, for
 * example because the response to an earlier save was lost.
 * @param url the URL of the saved subscription, which is added if the changes have none
 */
export function patchBody(
  changes: UpdateSubscriptionBody,
  { url }: Pick<Subscription, "url">,
): UpdateSubscriptionBody {
  return changes.secret === undefined ? changes : { url, ...changes };
}

/** Returns whether the new URL has another scheme, host or port. False while it is not valid. */
export function hasOtherOrigin(before: string, after: string): boolean {
  const typed = originOf(after.trim());
  return typed !== undefined && typed !== originOf(before);
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/** For each field of the API, the field of the form from which its value comes. */
export const sources: Readonly<Record<string, keyof SubscriptionFields>> = {
  url: "url",
  description: "description",
  event_types: "events",
  agent_ids: "agentIds",
  trigger_ids: "triggerIds",
  tags: "tags",
  secret: "secret",
  headers: "headers",
};

/**
 * Returns a resolver that checks the form as the API will check the request.
 * @param existing the subscription to change; undefined for a new one
 */
export function resolverFor(existing: Subscription | undefined): Resolver<SubscriptionFields> {
  return (fields) => {
    const { error } =
      existing === undefined
        ? createSubscriptionBody.safeParse(bodyOf(fields), { error: wording })
        : updateSubscriptionBody.safeParse(changesFor(existing, fields), { error: wording });
    const errors: FieldErrors<SubscriptionFields> = {};
    const add = (field: keyof SubscriptionFields, message: string) =>
      Object.assign(errors, { [field]: errors[field] ?? { type: "schema", message } });
    for (const issue of error?.issues ?? []) {
      const field = sources[String(issue.path[0])] ?? "url";
      const header = issue.path[1]?.toString();
      if (field === "headers" && header !== undefined) {
        // If the name of a header is invalid, zod has the message in a nested issue.
        const named = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
        addToRow(errors, fields, header, {
          part: named === undefined ? "value" : "name",
          message: named ?? issue.message,
        });
      } else add(field, missing(field, fields) ?? issue.message);
    }
    const isElsewhere = existing !== undefined && hasOtherOrigin(existing.url, fields.url);
    if (isElsewhere && fields.secret.trim() === "")
      add("secret", "Enter the secret for the new server, or generate one.");
    if (existing === undefined || fields.replacesHeaders || isElsewhere) checkRows(errors, fields);
    return Object.keys(errors).length === 0
      ? { values: fields, errors: {} }
      : { values: {}, errors };
  };
}

/** Returns the form's own message for a wrong field; undefined to use the contract's message. */
function missing(field: keyof SubscriptionFields, fields: SubscriptionFields): string | undefined {
  if (field === "url" && fields.url.trim() === "")
    return "Enter the URL of your server, for example https://example.com/beckon.";
  if (field === "url" && fields.url.trim().length <= 2_000)
    return "Enter an http or https URL without user name and fragment.";
  if (field === "events" && fields.events.length === 0) return "Choose at least one event.";
  if (field === "agentIds")
    return fields.agentIds.length === 0
      ? "Choose at least one agent."
      : "Choose at most 100 agents.";
  if (field === "triggerIds")
    return fields.triggerIds.length === 0
      ? "Choose at least one trigger."
      : "Choose at most 100 triggers.";
  if (field === "tags") return "Enter at most 10 tags of at most 64 characters.";
  return undefined;
}

/** Adds errors that the contract cannot find: duplicate names, missing names and values. */
function checkRows(errors: FieldErrors<SubscriptionFields>, fields: SubscriptionFields): void {
  const seen = new Set<string>();
  for (const row of fields.headers.filter(isFilled)) {
    const name = row.name.trim().toLowerCase();
    if (name === "")
      addToRow(errors, fields, row, { part: "name", message: "Enter the name of the header." });
    else if (seen.has(name))
      addToRow(errors, fields, row, { part: "name", message: "This header is there twice." });
    else if (row.value.trim() === "")
      addToRow(errors, fields, row, {
        part: "value",
        message: "Enter the value, or remove the header.",
      });
    seen.add(name);
  }
}

interface RowProblem {
  readonly part: keyof HeaderRow;
  readonly message: string;
}

function addToRow(
  errors: FieldErrors<SubscriptionFields>,
  { headers }: SubscriptionFields,
  of: string | HeaderRow,
  { part, message }: RowProblem,
): void {
  const at = headers.findIndex((row) => row === of || row.name.trim() === of);
  const rows = (errors.headers ?? []) as NonNullable<typeof errors.headers>;
  const row = rows[at];
  Object.assign(rows, { [at]: { ...row, [part]: row?.[part] ?? { type: "schema", message } } });
  errors.headers = rows;
}

/** Returns a new signing secret: `whsec_` and, as in secrets of the server, 32 bytes in base64. */
export function generateSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
