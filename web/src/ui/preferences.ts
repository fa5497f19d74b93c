import { createSubscribers } from "./subscribers.ts";

const { subscribe, notify } = createSubscribers();

/**
 * Calls the function after each change of a preference by this tab. A change by another tab of the
 * browser is read when the page is loaded again. Returns a function that unsubscribes.
 */
export const onPreference = subscribe;

/** Notifies all subscribers of this tab that a preference has changed. */
export const notifyPreference = notify;
