import type { Subscription } from "@beckon/client";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { useWorkspace } from "../../data/index.ts";
import { CopyButton, Id, PageHeader, useMedia } from "../../ui/index.ts";
import { HealthMark } from "../health-mark.tsx";
import { nameOf } from "../name.ts";
import { DeliveriesPanel } from "./deliveries-panel.tsx";
import { ActDialogs } from "./dialogs/act-dialogs.tsx";
import { HealthFacts } from "./health-facts.tsx";
import { SecretPanel } from "./secret-panel.tsx";
import { SettingsPanel } from "./settings-panel.tsx";
import { StateNotice } from "./state-notice.tsx";
import { SubscriptionActions } from "./subscription-actions.tsx";

interface SubscriptionPageProps {
  readonly subscription: Subscription;
  /** Says that the subscription may have changed or was deleted. */
  readonly notice: ReactNode;
}

/** The page of a subscription that is loaded. */
export function SubscriptionPage({ subscription, notice }: SubscriptionPageProps) {
  const { id } = useWorkspace();
  const name = nameOf(subscription);
  const isWide = useMedia("(min-width: 1100px)");
  const settings = (
    <>
      <SettingsPanel subscription={subscription} />
      <SecretPanel subscription={subscription} />
    </>
  );
  return (
    <div className="flex min-w-0 flex-col">
      <title>{`${name} · Beckon`}</title>
      <PageHeader
        title={name}
        breadcrumb={[{ label: "Subscriptions", href: `/w/${id}/subscriptions` }]}
        id={
          <>
            <Id value={subscription.id} />
            <CopyButton text={subscription.id} what="subscription id" />
          </>
        }
        status={<HealthMark subscription={subscription} />}
        actions={<SubscriptionActions subscription={subscription} />}
      >
        <HealthFacts subscription={subscription} />
      </PageHeader>
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        {notice}
        <StateNotice subscription={subscription} />
        {isWide ? (
          <div className="grid min-w-0 grid-cols-[minmax(0,1fr)_22rem] items-start gap-4 xl:grid-cols-[minmax(0,1fr)_26rem]">
            <DeliveriesPanel subscription={subscription} />
            <div className="flex min-w-0 flex-col gap-4">{settings}</div>
          </div>
        ) : (
          <>
            {/* The settings are above the list of deliveries. Below it, they would be hard to
                reach, because scrolling to the end of the list loads more rows. */}
            <details className="group min-w-0">
              <summary className="flex h-control w-fit list-none items-center gap-1 rounded-bar font-semibold text-ink-2 [&::-webkit-details-marker]:hidden">
                <ChevronRight
                  aria-hidden
                  className="text-ink-3 transition-transform group-open:rotate-90"
                />
                Settings and signature
              </summary>
              <div className="flex min-w-0 flex-col gap-4 pt-2">{settings}</div>
            </details>
            <DeliveriesPanel subscription={subscription} />
          </>
        )}
      </div>
      <ActDialogs subscription={subscription} />
    </div>
  );
}
