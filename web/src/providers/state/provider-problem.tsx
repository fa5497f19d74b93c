import { Problem } from "../../ui/index.ts";
import { adviceFor, splitCommand } from "./advice.ts";
import { AllowAddress } from "./allow-address.tsx";

interface ProviderProblemProps {
  /** The API's message. */
  readonly message: string;
  /** Whether the provider is the workspace's own, so that the person can change it. */
  readonly isOwn: boolean;
  /** Whether a key is stored. Default true. */
  readonly hasKey?: boolean;
}

/** Shows why a provider does not work and what to do, and the command that the message contains. */
export function ProviderProblem({ message, isOwn, hasKey }: ProviderProblemProps) {
  const split = splitCommand(message);
  const advice = adviceFor(message, isOwn, hasKey);
  return (
    <Problem isState error={[split.before, advice].filter(Boolean).join(" ")}>
      <AllowAddress {...split} />
    </Problem>
  );
}
