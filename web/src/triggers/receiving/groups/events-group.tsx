import { Field, NumberInput } from "../../../ui/index.ts";
import { useReceivingForm, useText } from "../form-context.ts";
import { Group } from "../group.tsx";
import { LocationField } from "../location-field.tsx";

/** Fields that say where in a request the id and the type of the event are. */
export function EventsGroup({ summary }: { readonly summary: string }) {
  const { draft, errorAt } = useReceivingForm();
  const days = useText("eventIdDays");
  return (
    <Group
      title="Event id and type"
      summary={summary}
      paths={["event_id", "event_id_days", "event_type"]}
    >
      <LocationField
        label="Event id"
        hint="A request with a known id starts no second run."
        name="eventId"
        path="event_id"
      />
      {draft.eventId.at === "none" ? null : (
        <div className="sm:w-1/2 sm:pr-1.5">
          <Field
            label="Ids are known for"
            hint="After that, the same id starts a run again."
            error={errorAt("event_id_days")}
          >
            <NumberInput {...days} unit="days" inputMode="numeric" />
          </Field>
        </div>
      )}
      <LocationField
        label="Event type"
        hint="Shown in the list, and event.type in filter and template."
        name="eventType"
        path="event_type"
      />
    </Group>
  );
}
