import type { Provider } from "@beckon/client";
import { lazyPart } from "../../ui/index.ts";

const AddProviderDialog = lazyPart(
  async () => (await import("./add-provider-dialog.tsx")).AddProviderDialog,
);

interface AddProviderProps {
  readonly open: boolean;
  readonly close: () => void;
  /** Called when the dialog closes after a provider was added. Default: no call. */
  readonly onAdded?: ((provider: Provider) => void) | undefined;
  /**
   * Id of the preset that the form starts with, for example `ollama`. Default: the first preset.
   */
  readonly preset?: string | undefined;
}

/** The dialog that adds a provider and then checks it. */
export function AddProvider({ open, ...rest }: AddProviderProps) {
  if (!open) return null;
  return <AddProviderDialog {...rest} />;
}
