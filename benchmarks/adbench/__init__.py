"""The GMM and LSTM objectives of ADBench (github.com/microsoft/ADBench): data, objectives in three styles, C by hand."""
