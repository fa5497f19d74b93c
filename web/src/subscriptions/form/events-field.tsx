import type { DeliveredEvent } from "@beckon/contract";
import { messageOf } from "../../data/index.ts";
import { Checkbox, FieldError, useFocusOnError } from "../../ui/index.ts";
import { eventGroups, eventTypes } from "../events.ts";
import type { SubscriptionFormState } from "./subscription-fields.ts";

/** What is said of events if the subscription is for chosen agents only. */
const notesWithAgents: Partial<Record<DeliveredEvent, string>> = {
  "usage.threshold": "Only of the agents below.",
  "subscription.disabled": "Only with all agents.",
};

/** Checkboxes for the events that are delivered, each with a description. */
export function EventsField({ form }: { readonly form: SubscriptionFormState }) {
  const { watch, setValue, formState } = form;
  const [chosen, hasTriggers, tags, hasAgents] = watch([
    "events",
    "hasTriggers",
    "tags",
    "hasAgents",
  ]);
  const error = messageOf(formState.errors.events);
  // Only the first error gets the focus, and the URL is above this field.
  const isFirst = formState.errors.url === undefined;
  const group = useFocusOnError(isFirst ? error : undefined, formState.submitCount);
  const isOfRunsOnly = hasTriggers || tags.trim() !== "";
  const noteOn = (type: DeliveredEvent, title: string) => {
    if (isOfRunsOnly && title !== "Runs") return "Not with triggers or tags below.";
    return hasAgents ? notesWithAgents[type] : undefined;
  };
  const toggle = (type: DeliveredEvent) =>
    setValue(
      "events",
      // The events are always in the order of the form. Otherwise a box that is unchecked and
      // checked again would count as a change.
      eventTypes.filter((each) => chosen.includes(each) !== (each === type)),
      { shouldDirty: true, shouldValidate: formState.isSubmitted },
    );
  return (
    <fieldset ref={group} className="flex min-w-0 flex-col" aria-describedby="events-error">
      <legend className="pb-1 text-label font-semibold text-ink-2">Events</legend>
      <FieldError id="events-error" message={error} isAnnounced />
      <div className="grid grid-cols-1 gap-x-6 gap-y-4 rounded-control border border-rule p-3 sm:grid-cols-2">
        {eventGroups.map(({ title, events }) => (
          <div
            key={title}
            className={`flex min-w-0 flex-col gap-2 ${title === "Runs" ? "sm:row-span-2" : ""}`}
          >
            <span className="text-label font-semibold text-ink-2">{title}</span>
            {events.map(({ type, text }) => (
              <Checkbox
                key={type}
                label={type}
                hint={[text, noteOn(type, title)].filter(Boolean).join(" ")}
                checked={chosen.includes(type)}
                onChange={() => toggle(type)}
              />
            ))}
          </div>
        ))}
      </div>
    </fieldset>
  );
}
