"use client";
import { useFlag } from "./flags";

export const Checkout = () =>
  useFlag("new-checkout") ? <h1>The new checkout</h1> : <h1>The old checkout</h1>;
