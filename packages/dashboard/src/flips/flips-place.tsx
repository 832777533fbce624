// The place of a preview that is not there yet, or not at all: a button below that moved would be clicked in vain.
import "./flips.css";

export const FlipsPlace = () => <div className="flips" />;
