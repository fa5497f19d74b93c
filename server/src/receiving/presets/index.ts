import type { Preset } from "@beckon/contract";
import { cloudevents } from "./cloudevents.ts";
import { dropbox } from "./dropbox.ts";
import { basic, hmac, none, secretHeader } from "./generic.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { linear } from "./linear.ts";
import { meta } from "./meta.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { standardWebhooks } from "./standard-webhooks.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";
import { twilio } from "./twilio.ts";

/**
 * The services whose requests a trigger can be set to accept, in the order in which they are shown.
 * A trigger stores a copy of the preset's settings, so a later change of the preset does not change
 * existing triggers.
 */
export const presets: readonly Preset[] = [
  github,
  gitlab,
  stripe,
  slack,
  shopify,
  linear,
  twilio,
  standardWebhooks,
  svix,
  meta,
  dropbox,
  cloudevents,
  hmac,
  secretHeader,
  basic,
  none,
];
