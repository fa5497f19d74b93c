import { type ComponentType, Suspense } from "react";
import { createDeferred, useDeferred } from "./deferred.ts";

interface Closable {
  readonly close?: () => void;
  readonly onClose?: () => void;
}

/**
 * Returns a component whose code is loaded when it is first rendered, for example a dialog. If the
 * code cannot be loaded, `MissingNotice` says so, and the page around the component stays. A
 * component that can be closed is a dialog: while it is opening, its mark `data-opening` keeps keys
 * from being shortcuts of the page (see `isSingleKey`).
 * @param load imports the component
 * @param Pending shown until the component is loaded. Default: nothing.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Pending: ComponentType<Props> = () => null,
): ComponentType<Props> {
  const deferred = createDeferred(load);
  return function Part(props: Props) {
    const { close, onClose }: Closable = props;
    const closePart = close ?? onClose;
    const Loaded = useDeferred(deferred, true, closePart);
    const pending = (
      <>
        <Pending {...props} />
        {closePart === undefined ? null : <span hidden data-opening="" />}
      </>
    );
    if (Loaded === undefined) return pending;
    return (
      <Suspense fallback={pending}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
