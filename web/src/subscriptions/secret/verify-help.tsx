import type { Subscription } from "@beckon/client";
import { useState } from "react";
import { CodeBlock, Link, SegmentedControl } from "../../ui/index.ts";

const snippets = [
  {
    value: "typescript",
    label: "TypeScript",
    code: `import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? "");

// body: the text of the request as it arrived, before it is parsed
const event = webhook.verify(body, {
  "webhook-id": headers["webhook-id"],
  "webhook-timestamp": headers["webhook-timestamp"],
  "webhook-signature": headers["webhook-signature"],
});`,
  },
  {
    value: "python",
    label: "Python",
    code: `import os
from standardwebhooks.webhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])

# body: the bytes of the request as they arrived, before they are parsed
event = webhook.verify(body, headers)`,
  },
] as const;

/** How a server verifies that a delivery comes from Beckon. */
export function VerifyHelp({ format }: { readonly format: Subscription["format"] }) {
  const [language, setLanguage] = useState<(typeof snippets)[number]["value"]>("typescript");
  return (
    <section aria-label="How to verify" className="flex min-w-0 flex-col gap-2">
      <p className="text-ink-2">
        {format === "cloudevents"
          ? "Verify the signature first, then parse the body as a CloudEvent."
          : "Verify each request before you use it. Respond with a 2xx status within 15 seconds."}
      </p>
      <div className="flex">
        <SegmentedControl
          label="Language"
          options={snippets}
          value={language}
          onChange={setLanguage}
        />
      </div>
      {snippets
        .filter(({ value }) => value === language)
        .map(({ value, label, code }) => (
          <CodeBlock key={value} code={code} label={`Verify a delivery: ${label}`} />
        ))}
      <p className="text-label text-ink-3">
        The library standardwebhooks exists for more languages. An event can arrive twice: ignore a
        webhook-id that you have processed at the same URL. Other subscriptions, and callbacks, send
        the event with the same id. More in the guide{" "}
        <Link href={`${location.origin}/docs/signed-events`}>Signed events</Link>.
      </p>
    </section>
  );
}
