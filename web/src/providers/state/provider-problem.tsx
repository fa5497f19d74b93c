import { isUnchecked } from "../../format/index.ts";
import { Banner, Problem } from "../../ui/index.ts";
import { adviceFor } from "./advice.ts";
import { AllowAddress } from "./allow-address.tsx";

interface ProviderProblemProps {
  /** The API's message. */
  readonly message: string;
  /** Whether the provider is the workspace's own, so that the person can change it. */
  readonly isOwn: boolean;
  /** Whether a key is stored. Default true. */
  readonly hasKey?: boolean;
}

/**
 * Shows why a provider does not work or cannot be checked and what to do, and the setting that
 * allows its address.
 */
export function ProviderProblem({ message, isOwn, hasKey }: ProviderProblemProps) {
  const text = [message, adviceFor(message, isOwn, hasKey)].filter(Boolean).join(" ");
  if (isUnchecked(message)) return <Banner tone="warning">{text}</Banner>;
  return (
    <Problem isState error={text}>
      <AllowAddress message={message} />
    </Problem>
  );
}
