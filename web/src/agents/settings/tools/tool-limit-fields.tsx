import { wholeNumberIn } from "../../../data/index.ts";
import { Field, NumberInput, TextInput } from "../../../ui/index.ts";
import { SizeOfField } from "../size-of-field.tsx";
import { useMessageAt } from "./use-message-at.ts";

/** The fields for the hosts that the tool can call, and for its limits. */
export function ToolLimitFields() {
  const { register, messageAt } = useMessageAt();
  const asNumber = { setValueAs: wholeNumberIn };
  return (
    <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
      <Field
        label="Allowed hosts"
        optional
        hint="host or host:port, separated by commas. Empty: the hosts of the URLs."
        error={messageAt("allowedHosts")}
      >
        <TextInput
          {...register("allowedHosts")}
          mono
          autoComplete="off"
          placeholder="api.example.com"
        />
      </Field>
      <Field
        label="Time limit of a call"
        hint="1 to 300, with its response."
        error={messageAt("timeoutSeconds")}
      >
        <NumberInput {...register("timeoutSeconds", asNumber)} unit="seconds" inputMode="numeric" />
      </Field>
      <Field
        label="Size of a response"
        hint="1 to 262,144. A longer one is truncated."
        aside={<SizeOfField name="maxResponseBytes" />}
        error={messageAt("maxResponseBytes")}
      >
        <NumberInput {...register("maxResponseBytes", asNumber)} unit="bytes" inputMode="numeric" />
      </Field>
      <Field
        label="Calls in a run"
        hint="1 to 1,000, all functions together."
        error={messageAt("maxCallsPerRun")}
      >
        <NumberInput {...register("maxCallsPerRun", asNumber)} unit="calls" inputMode="numeric" />
      </Field>
    </div>
  );
}
