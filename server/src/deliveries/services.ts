/** The services that operations on subscriptions need. */
export interface DeliveryServices {
  readonly deliveries: {
    /**
     * Must be called after the commit of a transaction that changed a subscription or made
     * deliveries due, so that all processes notice this at once and not only at their next poll.
     */
    changed(): void;
  };
}
