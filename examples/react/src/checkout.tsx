import { useFlag } from "@openfeature/react-sdk";

export const Checkout = () => {
  // Suspends until the flags are there, so the old checkout never flashes up; renders again when the flag changes.
  const { value: isNew } = useFlag("new-checkout", false, { suspendUntilReady: true });
  return isNew ? <h1>The new checkout</h1> : <h1>The old checkout</h1>;
};
