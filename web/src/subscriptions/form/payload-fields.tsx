import { RadioCards } from "../../ui/index.ts";
import type { SubscriptionFormState } from "./subscription-fields.ts";

/** What a delivery contains, and in which form. */
export function PayloadFields({ form }: { readonly form: SubscriptionFormState }) {
  const { watch, setValue } = form;
  return (
    <>
      <RadioCards
        label="Payload"
        columns={2}
        value={watch("payload")}
        onChange={(value) => setValue("payload", value, { shouldDirty: true })}
        options={[
          { value: "full", label: "Full", hint: "All data of the event, up to 256 KiB." },
          {
            value: "thin",
            label: "Thin",
            hint: "Ids only. Your server reads the event from the API.",
          },
        ]}
      />
      <RadioCards
        label="Format"
        columns={2}
        value={watch("format")}
        onChange={(value) => setValue("format", value, { shouldDirty: true })}
        options={[
          {
            value: "standard",
            label: "Standard Webhooks",
            hint: "Libraries for most languages verify it.",
          },
          {
            value: "cloudevents",
            label: "CloudEvents 1.0",
            hint: "For event buses. Signed in the same way.",
          },
        ]}
      />
    </>
  );
}
