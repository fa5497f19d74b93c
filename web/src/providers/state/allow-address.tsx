import { CodeBlock } from "../../ui/index.ts";
import { settingIn } from "./advice.ts";

/**
 * Shows the setting that allows the private address in the API's message, so that it can be copied.
 * Renders nothing if the message is about something else.
 */
export function AllowAddress({ message }: { readonly message: string | undefined }) {
  const setting = settingIn(message ?? "");
  if (setting === undefined) return null;
  return <CodeBlock code={setting} label="setting that allows the address" variant="wrap" />;
}
