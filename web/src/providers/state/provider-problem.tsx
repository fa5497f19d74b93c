import { adviceFor, splitCommand } from "./advice.ts";
import { AllowAddress } from "./allow-address.tsx";

interface ProviderProblemProps {
  /** The API's message. */
  readonly message: string;
  /** Whether the provider is the workspace's, so that the person can change it. */
  readonly isOwn: boolean;
  /** Whether a key is stored. */
  readonly hasKey?: boolean;
}

/** Why a provider does not work and what to do, with the line to set where one is needed. */
export function ProviderProblem({ message, isOwn, hasKey }: ProviderProblemProps) {
  const split = splitCommand(message);
  const advice = adviceFor(message, isOwn, hasKey);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <p className="break-words">
        {split.before}
        {advice === undefined ? null : ` ${advice}`}
      </p>
      <AllowAddress {...split} />
    </div>
  );
}
