// A provider that people sign in with, as the rest of the server sees it.

import type { Identity } from "../../user.ts";
import type { Claims, ProviderSettings } from "../provider.ts";

/** What only the browser that began must be able to show, and the provider must answer with. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Somebody's way to the provider and back. */
export interface Flow extends FlowSecrets {
  /** They are asked to prove who they are, also when the provider knows them. */
  readonly isFresh: boolean;
  readonly beganAt: Date;
}

export type ProviderAnswer =
  | {
      readonly kind: "proven";
      readonly identity: Identity;
      readonly claims: Claims;
      /** When they proved who they are, there; null when the provider does not say. */
      readonly provenAt: Date | null;
      /** Signing out at the provider asks for it. */
      readonly idToken: string;
    }
  /** They did not want to, or the provider does not let them. */
  | { readonly kind: "denied"; readonly error: unknown }
  /** The code is no longer good. */
  | { readonly kind: "over"; readonly error: unknown }
  /** It cannot be reached, or what it says cannot be believed. */
  | { readonly kind: "failed"; readonly error: unknown };

export interface Provider {
  readonly settings: ProviderSettings;
  /** Where the browser goes. Rejects when the provider cannot be reached. */
  begin(isFresh: boolean): Promise<{ readonly url: string; readonly secrets: FlowSecrets }>;
  /** `query` is what the browser came back with. */
  finish(query: string, flow: Flow): Promise<ProviderAnswer>;
  /** Where the browser signs out; undefined when the provider has no such place, or cannot be reached. */
  signOutUrl(idToken: string | undefined): Promise<string | undefined>;
}

/** By id. */
export type Providers = ReadonlyMap<string, Provider>;
