/** The services that operations on subscriptions need. */
export interface DeliveryServices {
  readonly deliveries: {
    /**
     * Must be called after the commit of a change to a subscription, or of deliveries that are due,
     * so that all processes notice it at once. Otherwise they notice it at their next poll.
     */
    changed(): void;
  };
}
