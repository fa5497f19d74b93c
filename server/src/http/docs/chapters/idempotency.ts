import { prose } from "../html.ts";
import { Secret } from "../sample-values.ts";
import { samplesFor } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

export function idempotency(baseUrl: string): Chapter {
  return {
    slug: "idempotency",
    title: "Idempotency",
    lead: "Send an `Idempotency-Key` to repeat a POST safely.",
    sections: [
      {
        id: "keys",
        title: "Repeat a request",
        html: `<p>${prose("Send a key of your own, 1 to 255 printable ASCII characters, with every POST that must not be executed twice. A repeat with the same key and the same body gets the first response again, with `Idempotency-Replayed: true`. A repeat of an invoke joins its run.")}</p>
<p>${prose("Keys are kept for 30 days, unless the operator has set another time. They belong to the agent for an invoke, to the trigger for a fire, and otherwise to the credential, the method and the path.")}</p>`,
        samples: samplesFor({
          method: "POST",
          url: `${baseUrl}/api/public/agents/agt_01jdb8tq5ke5ktbqrs4n1h9m0z/invoke`,
          headers: {
            "x-api-key": new Secret("BECKON_TOKEN"),
            "content-type": "application/json",
            "idempotency-key": "order-4711",
          },
          body: { input: "Sum up order 4711" },
          prints: "json",
        }),
      },
      {
        id: "rules",
        title: "Rules",
        html: `<ul>
<li>${prose("The same key with another body, `beckon-external-id`, `beckon-tags` or `beckon-callback` is a 422 `idempotency_mismatch`.")}</li>
<li>${prose("While the first request is in progress, a repeat of a management request waits for it and gets the same response.")}</li>
<li>${prose("A rejected request does not use up its key, and neither does a run that is created already failed, because a limit is spent or a mapping failed. Every other run does, even if it fails.")}</li>
<li>${prose("A POST that changes nothing, a route about accounts and [Cancel run](/docs/runs#cancelRun) ignore the key. Cancelling a run again changes nothing.")}</li>
<li>${prose("[Fire trigger](/docs/calls#fireTrigger) also accepts `webhook-id` of Standard Webhooks as the key, unless the trigger's settings have an `event_id`.")}</li>
</ul>`,
      },
    ],
  };
}
