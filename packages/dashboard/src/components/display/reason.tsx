// Why a change was made, as whoever made it said.

export const Reason = ({ reason }: { readonly reason: string | undefined }) =>
  reason !== undefined && <p className="history-reason">“{reason}”</p>;
