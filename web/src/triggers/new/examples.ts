import type { PresetName } from "@beckon/contract";
import { CreditCard, GitPullRequest, type LucideIcon, MailPlus, Workflow } from "lucide-react";

/** An example of what a trigger can be used for. */
export interface TriggerExample {
  /** Value of the search parameter `new`. */
  readonly id: string;
  readonly icon: LucideIcon;
  readonly title: string;
  readonly explanation: string;
  readonly name: string;
  readonly promptPrefix: string;
  /**
   * The preset, which has the settings for a known sender; undefined for a trigger that accepts
   * anything.
   */
  readonly preset?: PresetName;
}

/** The examples that are shown while an agent has no trigger. */
export const examples: readonly TriggerExample[] = [
  {
    id: "github",
    icon: GitPullRequest,
    title: "GitHub, Stripe, Slack and others",
    explanation: "A service posts signed events. Beckon verifies them, and runs each one once.",
    name: "GitHub",
    promptPrefix: "An event of our repository arrived. Say what has to be done:",
    preset: "github",
  },
  {
    id: "form",
    icon: MailPlus,
    title: "A form",
    explanation: "A page posts what a visitor typed, and the agent drafts a reply.",
    name: "Contact form",
    promptPrefix: "A visitor sent this form. Draft a reply:",
  },
  {
    id: "payment",
    icon: CreditCard,
    title: "A payment event",
    explanation: "The payment provider posts each event, and the agent says what to do.",
    name: "Payments",
    promptPrefix: "This payment event arrived. Say what has to be done:",
  },
  {
    id: "build",
    icon: Workflow,
    title: "A CI job",
    explanation: "A failed build posts the end of its log, and the agent names the likely cause.",
    name: "Failed builds",
    promptPrefix: "This build failed. Name the likely cause:",
  },
];
