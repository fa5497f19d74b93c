import { authentication } from "./authentication.ts";
import type { Chapter } from "./chapter.ts";
import { errors } from "./errors.ts";
import { idempotency } from "./idempotency.ts";
import { limits } from "./limits.ts";
import { metering } from "./metering.ts";
import { pagination } from "./pagination.ts";
import { streams } from "./streams.ts";
import { subscriptions } from "./subscriptions.ts";
import { triggers } from "./triggers.ts";

export type { Chapter } from "./chapter.ts";

/** Returns the chapters, in reading order, with samples for the installation at `baseUrl`. */
export function chaptersOf(baseUrl: string): Chapter[] {
  return [
    authentication(baseUrl),
    errors(),
    pagination(baseUrl),
    idempotency(baseUrl),
    streams(baseUrl),
    triggers(baseUrl),
    subscriptions(baseUrl),
    metering(baseUrl),
    limits(baseUrl),
  ];
}
