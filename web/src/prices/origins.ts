import type { ModelPrice } from "@beckon/client";

type Origin = NonNullable<ModelPrice["current"]>["origin"];

/** Names of the origins of prices, with explanations. */
export const originTexts: Readonly<
  Record<Origin, { readonly label: string; readonly hint: string }>
> = {
  library: { label: "Price list", hint: "From the list of vendors' prices that Beckon contains." },
  operator: { label: "Operator", hint: "Set by the operator of Beckon." },
  workspace: { label: "Workspace", hint: "Set here." },
  free: {
    label: "Free",
    hint: "The provider is marked as free or runs on Beckon's machine, or the model is built in.",
  },
};
